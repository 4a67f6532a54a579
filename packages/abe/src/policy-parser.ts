/** Splits policy text into tokens. Errors give the position of the wrong character. */
import {
  and,
  attribute,
  levelsOf,
  MAX_ATTRIBUTE_BYTES,
  MAX_LEAVES,
  MAX_LEVELS,
  or,
  type Policy,
  threshold,
  utf8Bytes,
} from './policy.ts';

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

type TokenKind = '(' | ')' | ',' | 'and' | 'or' | 'of' | 'word' | 'quoted' | 'end';

interface Token {
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
function tokenize(text: string): readonly Token[] {
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

// Policies as text: `doctor and (cardiology or 2 of (a, b, c))`.
//
//     policy = term { "or" term }              "and" binds tighter than "or"
//     term   = factor { "and" factor }
//     factor = number "of" "(" policy { "," policy } ")" | "(" policy ")" | attribute
//
// An attribute is a word of letters, digits and `_ - . :`, or a quoted string.

const TOO_DEEP = `nested deeper than ${MAX_LEVELS} levels`;

/** Throws a `PolicySyntaxError` that points at the first character that can't be right. */
export function parsePolicy(text: string): Policy {
  return new Parser(text).parse();
}

class Parser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #at = 0;
  #leaves = 0;
  #deepest: { nesting: number; token: Token };

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokenize(text);
    this.#deepest = { nesting: 0, token: this.#next };
  }

  parse(): Policy {
    const policy = this.#policy(1);
    if (this.#next.kind !== 'end') throw this.#error('expected "and", "or" or the end');
    if (levelsOf(policy) > MAX_LEVELS) throw this.#error(TOO_DEEP, this.#deepest.token);
    return policy;
  }

  /** `nesting` counts the parentheses around, which bounds the recursion. */
  #policy(nesting: number): Policy {
    const term = (): Policy => this.#joined('and', and, () => this.#factor(nesting));
    return this.#joined('or', or, term);
  }

  #joined(word: TokenKind, join: (...parts: Policy[]) => Policy, part: () => Policy): Policy {
    const first = part();
    const parts = [first];
    while (this.#take(word) !== undefined) parts.push(part());
    return parts.length === 1 ? first : join(...parts);
  }

  #factor(nesting: number): Policy {
    if (nesting > this.#deepest.nesting) this.#deepest = { nesting, token: this.#next };
    if (nesting > MAX_LEVELS) throw this.#error(TOO_DEEP);
    if (this.#take('(') !== undefined) {
      const policy = this.#policy(nesting + 1);
      this.#expect(')');
      return policy;
    }
    const token = this.#take('word') ?? this.#take('quoted');
    if (token === undefined) throw this.#error('expected an attribute, "(" or "k of ("');
    if (token.kind === 'word' && this.#take('of') !== undefined) return this.#threshold(token, nesting);
    return this.#leaf(token);
  }

  #threshold(count: Token, nesting: number): Policy {
    const open = this.#expect('(');
    const children = [this.#policy(nesting + 1)];
    while (this.#take(',') !== undefined) children.push(this.#policy(nesting + 1));
    if (this.#take(')') === undefined) throw this.#error(`expected "," or the ")" of the "(" at ${open.index + 1}`);
    const k = /^\d{1,4}$/.test(count.text) ? Number(count.text) : 0;
    if (k >= 1 && k <= children.length) return threshold(k, ...children);
    const problem = `expected a number from 1 to ${children.length} before "of"`;
    throw new PolicySyntaxError(problem, this.#text, count.index);
  }

  #leaf(token: Token): Policy {
    this.#leaves++;
    if (this.#leaves > MAX_LEAVES) throw this.#error(`more than ${MAX_LEAVES} attributes`, token);
    const { length } = token.bytes;
    if (length === 0) throw this.#error('an attribute is not empty', token);
    if (length > MAX_ATTRIBUTE_BYTES) throw this.#error(`longer than ${MAX_ATTRIBUTE_BYTES} bytes`, token);
    return attribute(token.bytes);
  }

  get #next(): Token {
    return this.#tokens[this.#at] as Token;
  }

  #take(kind: TokenKind): Token | undefined {
    const token = this.#next;
    if (token.kind !== kind) return undefined;
    this.#at++;
    return token;
  }

  #expect(kind: TokenKind): Token {
    const token = this.#take(kind);
    if (token === undefined) throw this.#error(`expected "${kind}"`);
    return token;
  }

  #error(problem: string, token = this.#next): PolicySyntaxError {
    return new PolicySyntaxError(problem, this.#text, token.index);
  }
}
