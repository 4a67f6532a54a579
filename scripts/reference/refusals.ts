/** Every expected no of core and services, from the tables they answer with. */
import { nextStepOf, type ProblemCode, problemOf, REFUSALS, SERVICE_PROBLEMS } from '@basa/protocol';
import { markdownPage, markdownTable } from './markdown.ts';

export function refusalsPage(): string {
  return markdownPage(
    '# Refusals',
    `An expected no has a stable code. Over HTTP it is a problem document whose \`type\` is \`urn:basa:problem:<code>\` ([how it looks](../http.md#errors)); in the SDK it is the \`reason\` of a rejection or the \`code\` of a \`ProblemError\`. A no changes nothing.`,
    '## Of the protocol',
    'Given by the server, by the authority, or by a user to what it is told.',
    tableOf(Object.keys(REFUSALS) as ProblemCode[]),
    '## Of the services',
    'Given before the protocol is asked.',
    tableOf(Object.keys(SERVICE_PROBLEMS) as ProblemCode[]),
  );
}

function tableOf(codes: readonly ProblemCode[]): string {
  const rows = codes.map((code) => {
    const { sentence, status } = problemOf(code);
    return [`\`${code}\``, `${status}`, nextOf(code), sentence, nextStepOf(code)];
  });
  return markdownTable(['code', 'status', 'what the SDK does', 'what it says', 'next step'], rows);
}

/** The first that holds: the request again, the update elsewhere, another update, the same later, or nothing. */
function nextOf(code: ProblemCode): string {
  const { resend, anotherSeat, freshUpdate, retry } = problemOf(code);
  if (resend) return 'sends the request again';
  if (anotherSeat) return 'offers the update to another buffer';
  if (freshUpdate) return 'trains anew';
  return retry ? 'tries again later' : 'ends';
}
