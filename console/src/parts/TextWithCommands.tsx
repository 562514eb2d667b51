/** A text in which commands to type stand between backticks. */
export function TextWithCommands({ text }: { text: string }) {
  return text.split("`").map((part, number) => (number % 2 ? <code key={part}>{part}</code> : part));
}
