"""One function and one class per metric; their types are in ``_generated.pyi``."""

from ._functions import define

define(globals())
