"""Numbers within bounds, as the fields of configurations take them."""

from typing import Annotated

from annotated_types import Ge, Interval

Index = Annotated[int, Ge(0)]
Count = Annotated[int, Ge(1)]
Share = Annotated[float, Interval(ge=0, le=1)]
PositiveShare = Annotated[float, Interval(gt=0, le=1)]
Temperature = Annotated[float, Interval(ge=0, le=2)]
