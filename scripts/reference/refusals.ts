/** Every expected no of core and services, from the tables they answer with. */
import { REFUSALS, SERVICE_PROBLEMS } from '@basa/protocol';
import { markdownPage, markdownTable, writtenFrom } from './markdown.ts';

export function refusalsPage(): string {
  return markdownPage(
    '# Refusals',
    `An expected no has a stable code. Over HTTP it is a problem document whose \`type\` is \`urn:basa:problem:<code>\` ([how it looks](../http.md#a-no-is-a-problem-document)); in the SDK it is the \`reason\` of a rejection or the \`code\` of a \`ProblemError\`. A no changes nothing.`,
    writtenFrom('`REFUSALS` and `SERVICE_PROBLEMS` of `@basa/protocol`'),
    '## Of the protocol',
    'Given by the server, by the authority, or by a user to what it is told.',
    tableOf(REFUSALS),
    '## Of the services',
    'Given before the protocol is asked.',
    tableOf(SERVICE_PROBLEMS),
  );
}

function tableOf(reasons: Readonly<Record<string, { readonly sentence: string; readonly status: number }>>): string {
  const rows = Object.entries(reasons).map(([code, { sentence, status }]) => [`\`${code}\``, `${status}`, sentence]);
  return markdownTable(['code', 'status', 'what it says'], rows);
}
