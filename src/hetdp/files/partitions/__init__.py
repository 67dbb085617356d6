"""Problems that no process holds whole: read, dealt to partitions, and their mechanisms written, all by workers."""
