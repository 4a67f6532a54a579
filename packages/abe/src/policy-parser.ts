/**
 * Policies as text: `doctor and (cardiology or 2 of (a, b, c))`.
 *
 *     policy = term { "or" term }              "and" binds tighter than "or"
 *     term   = factor { "and" factor }
 *     factor = number "of" "(" policy { "," policy } ")" | "(" policy ")" | attribute
 *
 * An attribute is a word of letters, digits and `_ - . :`, or a quoted string.
 */
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
} from './policy.ts';
import { PolicySyntaxError, type Token, type TokenKind, tokenize } from './policy-lexer.ts';

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
