// How turns end, in words.

/** The first line of what is known about an end, without what its label says and without advice. */
export function endNote(error: string): string {
  const [firstLine = ""] = withoutLabel(error).split("\n");
  return /^stopped after \d+ steps/.exec(firstLine)?.[0] ?? firstLine;
}

/** The server says "refused: Bash", and so does the label in front of it. */
export function withoutLabel(error: string): string {
  return error.trim().replace(/^refused: /, "");
}
