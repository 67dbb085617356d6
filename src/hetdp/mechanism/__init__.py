"""The result and how it is reached: compatibility, extension, explanation."""
