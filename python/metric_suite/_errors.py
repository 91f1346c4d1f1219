"""The error of the package."""

from __future__ import annotations


class MetricError(ValueError):
    """The problem with an option, a value or a file.

    Attributes:
        option: The invalid option, by its Python name.
        index: The position of the invalid value, counted from 0, if values have no ids.
        id: The id of the invalid record.
        side: ``"prediction"`` or ``"reference"``.
        field: The invalid field of a file.
        problem: The whole message.

    >>> import metric_suite
    >>> metric_suite.wer(predictions=["a", 1], references=["a", "b"])
    Traceback (most recent call last):
        ...
    metric_suite.MetricError: predictions[1]: expected a string, found a number: write it as "1", or take all values as they are written, with as_text
    """

    def __init__(
        self,
        problem: str,
        *,
        option: str | None = None,
        index: int | None = None,
        id: str | None = None,
        side: str | None = None,
        field: str | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.option = option
        self.index = index
        self.id = id
        self.side = side
        self.field = field

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (self.problem, self.option, self.index, self.id, self.side, self.field)


MetricError.__module__ = "metric_suite"


def _rebuilt(
    problem: str, option: str | None, index: int | None, id: str | None, side: str | None, field: str | None
) -> MetricError:
    return MetricError(problem, option=option, index=index, id=id, side=side, field=field)
