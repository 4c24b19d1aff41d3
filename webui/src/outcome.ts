// How turns end, in words.

/** The first line of an error, without its label and without advice. */
export function endNote(error: string): string {
  const [firstLine = ""] = withoutLabel(error).split("\n");
  return /^stopped after \d+ steps/.exec(firstLine)?.[0] ?? firstLine;
}

/** Drops "refused: ", which the label in front of it already says. */
export function withoutLabel(error: string): string {
  return error.trim().replace(/^refused: /, "");
}
