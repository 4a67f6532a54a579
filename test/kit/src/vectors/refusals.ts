/** The table of refusals for clients in other languages: what each code means, what a person does next, and what a device does. */
import { REFUSALS } from '@basa/protocol';
import type { ProblemCode } from '@basa/protocol/http';
import { nextStepOf, problemOf, SERVICE_PROBLEMS } from '@basa/protocol/internal/http/problems.ts';

export const REFUSALS_FILE = 'clients/python/basa/refusals.json';

export function refusalTable(): string {
  const codes = [...Object.keys(REFUSALS), ...Object.keys(SERVICE_PROBLEMS)] as ProblemCode[];
  const rows = codes.map((code) => [code, rowOf(code)]);
  return `${JSON.stringify(Object.fromEntries(rows), undefined, 2)}\n`;
}

function rowOf(code: ProblemCode): Readonly<Record<string, unknown>> {
  const { status: _, ...row } = problemOf(code);
  return { ...row, next: nextStepOf(code) };
}
