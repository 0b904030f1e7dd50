// The answers of the TypeScript clients to questions of the demo server.

/** Fills in forms, and agrees to visit any URL. */
export const elicited = ({ params }) =>
  params.mode === "url" ? { action: "accept" } : { action: "accept", content: { name: "Ada", tone: "formal" } };

/** Repeats the last message to the model. */
export function sampled({ params }) {
  const [{ content }] = params.messages;
  const { text } = [content].flat()[0];
  return {
    model: "interop",
    role: "assistant",
    content: { type: "text", text: text.replace("Write a line about", "About") },
  };
}

export const rooted = () => ({ roots: [{ uri: "file:///interop" }] });
