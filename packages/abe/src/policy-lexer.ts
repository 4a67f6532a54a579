/** Splits policy text into tokens. Errors give the position of the wrong character. */
import { utf8Bytes } from './utf8.ts';

/** Thrown for a text that is not a policy; the message shows the line with a caret below the character. */
export class PolicySyntaxError extends Error {
  /** Index of the character in the text, from 0. */
  readonly index: number;

  constructor(problem: string, text: string, index: number) {
    const lineStart = text.lastIndexOf('\n', index - 1) + 1;
    const [line = ''] = text.slice(lineStart).split('\n', 1);
    super(`${problem}, at character ${index + 1}\n  ${line}\n  ${' '.repeat(index - lineStart)}^`);
    this.name = 'PolicySyntaxError';
    this.index = index;
  }
}

export type TokenKind = '(' | ')' | ',' | 'and' | 'or' | 'of' | 'word' | 'quoted' | 'end';

export interface Token {
  readonly kind: TokenKind;
  readonly index: number;
  /** As written. */
  readonly text: string;
  /** The attribute that a word or a quoted string names; empty for the others. */
  readonly bytes: Uint8Array;
}

const SPACE = /\s*/y;
const MARK = /[(),]/y;
const WORD = /[A-Za-z0-9_.:-]+/y;
const KEYWORD = /^(and|or|of)$/i;
const NOTHING = new Uint8Array(0);

/** The tokens of a text, ended by one of kind `end`. */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let index = match(SPACE, text, 0).length;
  while (index < text.length) {
    const token = readToken(text, index);
    tokens.push(token);
    index += token.text.length;
    index += match(SPACE, text, index).length;
  }
  return [...tokens, { kind: 'end', index, text: '', bytes: NOTHING }];
}

function readToken(text: string, index: number): Token {
  const mark = match(MARK, text, index);
  if (mark !== '') return { kind: mark as TokenKind, index, text: mark, bytes: NOTHING };
  const word = match(WORD, text, index);
  if (KEYWORD.test(word)) return { kind: word.toLowerCase() as TokenKind, index, text: word, bytes: NOTHING };
  if (word !== '') return { kind: 'word', index, text: word, bytes: utf8Bytes(word) };
  if (text[index] === '"') return readQuoted(text, index);
  throw new PolicySyntaxError(`${JSON.stringify(text[index])} is not allowed here`, text, index);
}

const PLAIN = /[^"\\\n]+/y;
const ESCAPE = /\\(?:(["\\])|x([0-9A-Fa-f]{2}))/y;

/** Reads `"any text"`, with `\"`, `\\`, and `\xNN` for a byte that is not text. */
function readQuoted(text: string, start: number): Token {
  const bytes: number[] = [];
  let index = start + 1;
  while (text[index] !== '"') {
    const plain = match(PLAIN, text, index);
    for (const byte of encode(plain, text, index)) bytes.push(byte);
    index += plain.length;
    if (text[index] === '\\') {
      const escaped = match(ESCAPE, text, index);
      if (escaped === '') throw new PolicySyntaxError('an escape is \\", \\\\ or \\xNN', text, index);
      bytes.push(escaped.length === 4 ? Number.parseInt(escaped.slice(2), 16) : escaped.charCodeAt(1));
      index += escaped.length;
    } else if (text[index] !== '"') throw new PolicySyntaxError('the quotation mark is never closed', text, start);
  }
  return { kind: 'quoted', index: start, text: text.slice(start, index + 1), bytes: Uint8Array.from(bytes) };
}

function encode(plain: string, text: string, index: number): Uint8Array {
  try {
    return utf8Bytes(plain);
  } catch {
    throw new PolicySyntaxError('half a surrogate pair is no text', text, index);
  }
}

function match(pattern: RegExp, text: string, index: number): string {
  pattern.lastIndex = index;
  return pattern.exec(text)?.[0] ?? '';
}
