from .held import in_memory as in_memory
