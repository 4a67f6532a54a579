/** A no on the wire as a `ProblemError`: the problem document, or what is left of it where a proxy answered. */
import { HEADER, problemCodeOf } from '@basa/protocol';
import { ProblemError } from './errors.ts';

interface NegativeAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  readonly body: Uint8Array;
}

export function problemOf({ status, header, body }: NegativeAnswer): ProblemError {
  const document = parse(body);
  const { title, detail, slots, retryAfterMs } = document;
  return new ProblemError({
    code: problemCodeOf(document) ?? 'unknown-problem',
    status,
    title: typeof title === 'string' ? title : `The service answered with status ${status}.`,
    detail: typeof detail === 'string' ? detail : undefined,
    slots: Array.isArray(slots) && slots.every(Number.isInteger) ? slots : undefined,
    retryAfterMs: waitOf(retryAfterMs) ?? waitOf(1000 * Number(header('retry-after') ?? Number.NaN)),
    uploadOffset: waitOf(Number(header(HEADER.uploadOffset) ?? Number.NaN)),
  });
}

function waitOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : undefined;
}

function parse(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const document: unknown = JSON.parse(new TextDecoder().decode(body));
    return typeof document === 'object' && document !== null ? { ...document } : {};
  } catch {
    return {};
  }
}
