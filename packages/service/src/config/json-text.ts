/** Reads JSON that a person wrote: an error gives the line and column. */

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    throw new SyntaxError(text.trim() === '' ? 'it is empty' : `${wordsOf(message)}, ${placeOf(text, message)}`);
  }
}

/** The engine's message without its own positions and without a copy of the text. */
function wordsOf(message: string): string {
  return message.replace(/ in JSON at position.*$| after JSON at position.*$|, (\.\.\.)?".*$/s, '');
}

function placeOf(text: string, message: string): string {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  const before = text.slice(0, position === undefined ? unexpectedAt(text) : Number(position)).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}

/** The engine names no position for an unexpected token: returns the end of the shortest prefix of the text that contains one. */
function unexpectedAt(text: string): number {
  let [good, bad] = [0, text.length + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (hasUnexpected(text.slice(0, middle))) bad = middle;
    else good = middle;
  }
  return bad - 1;
}

function hasUnexpected(beginning: string): boolean {
  try {
    JSON.parse(beginning);
    return false;
  } catch (error) {
    return (error as Error).message.startsWith('Unexpected token');
  }
}
