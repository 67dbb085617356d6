"""check, extend and design on partitions: the same steps as on one machine, each a task for every partition."""
