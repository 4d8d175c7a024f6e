from .estimator import SklearnProbe as SklearnProbe
