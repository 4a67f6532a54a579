/** Answers of the test services: bytes, JSON and problem documents. */
import {
  PROBLEM_MEDIA_TYPE,
  type ProblemCode,
  type ProblemMore,
  problemDocument,
  problemOfRefusal,
  type Refused,
} from '@basa/protocol';

export interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array;
}

export const problem = (code: ProblemCode, more: ProblemMore = {}): Reply => documented(problemDocument(code, more));

export function documented(document: ReturnType<typeof problemDocument>, headers: Record<string, string> = {}): Reply {
  return {
    status: document.status,
    headers: { 'content-type': PROBLEM_MEDIA_TYPE, ...headers },
    body: Buffer.from(JSON.stringify(document)),
  };
}

export const bytes = (body: Uint8Array): Reply => ({ status: 200, body });
export const bytesOrProblem = (answer: Uint8Array | Refused): Reply =>
  answer instanceof Uint8Array ? bytes(answer) : documented(problemOfRefusal(answer));
export const json = (value: object): Reply => ({ status: 200, body: Buffer.from(JSON.stringify(value)) });
