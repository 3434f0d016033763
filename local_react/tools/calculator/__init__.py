"""calculator: exact arithmetic as people and models write it."""

from local_react.tools.calculator.evaluation import MAX_LENGTH, calculator, evaluate

__all__ = ["MAX_LENGTH", "calculator", "evaluate"]
