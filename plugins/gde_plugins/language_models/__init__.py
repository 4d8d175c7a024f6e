"""Language models: embedded, of transformers, and behind servers.

Names are loaded when they are first used, so that importing the plugin stays light. The
stub beside this file lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
