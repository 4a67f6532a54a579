/** Every expected no of core and services, from the tables they answer with. */
import { REFUSALS } from '@basa/protocol';
import type { ProblemCode } from '@basa/protocol/http';
import { nextStepOf, problemOf, SERVICE_PROBLEMS } from '@basa/protocol/internal/http/problems.ts';
import { markdownPage, markdownTable } from './markdown.ts';

export function refusalsPage(): string {
  return markdownPage(
    '# Refusals',
    `Every refusal has a stable code. Over HTTP it is a problem document whose \`type\` is \`urn:basa:problem:<code>\` ([format](../http.md#errors)); in the SDK it is the \`reason\` of a rejection or the \`code\` of a \`ProblemError\`. A refused request changes nothing.`,
    '## Protocol',
    'Refusals of the server, the authority, or a device that judges what it received.',
    tableOf(Object.keys(REFUSALS) as ProblemCode[]),
    '## Services',
    'Refusals of a service before the protocol runs.',
    tableOf(Object.keys(SERVICE_PROBLEMS) as ProblemCode[]),
  );
}

function tableOf(codes: readonly ProblemCode[]): string {
  const rows = codes.map((code) => {
    const { sentence, status } = problemOf(code);
    return [`\`${code}\``, `${status}`, nextOf(code), sentence, nextStepOf(code)];
  });
  return markdownTable(['code', 'status', 'action of the SDK', 'message', 'next step'], rows);
}

/** The first that holds: the request again, another update, the same later, or nothing. */
function nextOf(code: ProblemCode): string {
  const { resend, freshUpdate, retry } = problemOf(code);
  if (resend) return 'sends the request again';
  if (freshUpdate) return 'trains again';
  return retry ? 'tries again later' : 'ends';
}
