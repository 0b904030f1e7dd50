// What our clients in TypeScript answer when the demo server asks.

/** Fills in the form, and agrees to visit any URL. */
export const elicited = ({ params }) =>
  params.mode === "url" ? { action: "accept" } : { action: "accept", content: { name: "Ada", tone: "formal" } };

/** Repeats the last words of what the model is asked. */
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
