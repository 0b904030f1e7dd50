"""The answers of the Python clients to questions of the demo server."""


class Answers:
    """The callbacks for both generations of the SDK. `types` are the types of one of them."""

    def __init__(self, types):
        self.types = types

    async def elicited(self, context, params):
        """Fills in forms, and agrees to visit any URL."""
        if getattr(params, "mode", "form") == "url":
            return self.types.ElicitResult(action="accept")
        content = {"name": "Ada", "tone": "formal"}
        return self.types.ElicitResult(action="accept", content=content)

    async def sampled(self, context, params):
        """Repeats the last message to the model."""
        asked = params.messages[0].content.text
        text = asked.replace("Write a line about", "About")
        return self.types.CreateMessageResult(
            role="assistant",
            model="interop",
            content=self.types.TextContent(type="text", text=text),
        )

    async def rooted(self, context):
        return self.types.ListRootsResult(roots=[self.types.Root(uri="file:///interop")])
