/** The table of docs/rules.md: each rule, what breaks without it, the page that says it, the code that holds it, the test that fails without it. */
import { HELD_BY, type HeldBy } from './held-by.ts';
import { MISSING_RULES } from './worlds.ts';

const HEAD = `| rule | without it, in the model | the page that says it | the code that holds it | what fails without that code |
|---|---|---|---|---|`;

export function tableOfRules(): string {
  return [HEAD, ...HELD_BY.map(lineOf)].join('\n');
}

function lineOf(held: HeldBy): string {
  const page = held.page.replace('docs/', '');
  const cells = [
    held.rule,
    brokenWithout(held.rule),
    `[${page.split('/').at(-1)?.replace('.md', '')}](${page}): "${held.says}"`,
    `\`${held.file.replace('packages/protocol/src/', '')}\`: \`${held.code.split(',\n')[0]}\``,
    'mutant' in held
      ? `the attack of the mutant "${held.mutant}" (\`npm run lab -- prove mutants\`)`
      : `\`${held.tests.replace('packages/protocol/test/', '')}\`: ${held.claim.replaceAll(/%[sd]/g, '...')}`,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function brokenWithout(rule: string): string {
  const missing = MISSING_RULES.find(({ name }) => name === rule || name.startsWith(`${rule}:`));
  const problem = missing?.problem;
  if (problem === undefined) throw new Error(`the model does not break without "${rule}"`);
  return problem;
}
