"""The abilities of a part that stands around another one."""

from inspect import getattr_static


def lend(outer: object, inner: object) -> None:
    """Give a part the public methods of the one within, beside its own.

    They become attributes: from Python 3.12 on, `isinstance` does not ask `__getattr__`
    whether an object fits a protocol.
    """
    for name in {*dir(type(inner)), *getattr(inner, "__dict__", ())}:
        is_own = name.startswith("_") or hasattr(type(outer), name)
        # Looked up without running properties.
        if not is_own and callable(getattr_static(inner, name, None)):
            setattr(outer, name, getattr(inner, name))
