"""Rendering of a conversation into the tokens that a model was trained on."""

from collections.abc import Sequence
from typing import Any

from gde.data.completion import Message
from gde.errors import GdeError


class ChatTemplate:
    """A tokenizer's own chat template with a fixed date.

    A request thus always gives the same prompt.
    """

    def __init__(self, tokenizer: Any, *, whose: str, date: str) -> None:
        self._tokenizer = tokenizer
        self._whose = whose
        if not tokenizer.chat_template:
            raise GdeError(
                f"{whose}: the tokenizer has no chat template; wanted a chat model, or a chat_template.jinja beside it"
            )
        template = tokenizer.get_chat_template()
        # A macro of that name hides the clock that transformers offers to templates.
        clock = f"{{%- macro strftime_now(format) -%}}{date}{{%- endmacro -%}}"
        self._template = clock + template if "strftime_now" in template else template

    def render(
        self, messages: Sequence[Message], effort: str | None
    ) -> tuple[int, ...]:
        """Return the token ids up to the model's answer.

        Without an effort the template writes its own default.

        Raises:
            GdeError: the template refuses the conversation.
        """
        from jinja2 import TemplateError

        told = {} if effort is None else {"reasoning_effort": effort}
        try:
            text = self._tokenizer.apply_chat_template(
                [
                    {"role": message.role, "content": message.content}
                    for message in messages
                ],
                chat_template=self._template,
                tokenize=False,
                add_generation_prompt=True,
                **told,
            )
        except TemplateError as error:
            roles = ", ".join(message.role for message in messages)
            raise GdeError(
                f"{self._whose}: the chat template refuses messages of {roles}: {error}"
            ) from error
        return tuple(self._tokenizer(text, add_special_tokens=False)["input_ids"])
