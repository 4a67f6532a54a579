/** `basa doctor`: checks everything a service needs, and gives advice on every problem. */

import { type Command, command, EXIT_CODE } from '../shell/command.ts';
import { counted } from '../shell/terminal.ts';
import { CONFIG_FLAGS, placesOf, serviceOf } from './config.ts';
import type { Finding } from './findings.ts';

const MARK: Readonly<Record<Finding['state'], string>> = { fine: 'ok  ', warning: 'warn', failed: 'FAIL' };

export const doctor: Command = command({
  name: 'doctor',
  summary:
    'check versions, ports, disk, clocks, permissions, records, tokens and the authority, with advice on each problem',
  takes: { 'server | authority': 'the service; without it, only this machine is checked' },
  flags: CONFIG_FLAGS,
  notes: [
    'It changes nothing and can run while the service runs; run it as the same user. Exits with code 1 if a check failed.',
  ],
  opening: 'checking',
  async run(input) {
    const { checkVersions } = await import('./checks.ts');
    const findings = [...(await checkVersions())];
    const checked = input.positionals.length > 0 ? serviceOf(input) : undefined;
    if (checked !== undefined) {
      const { checkService } = await import('./checks.ts');
      findings.push(...(await checkService(checked, placesOf(input))));
    }
    const { checkParties } = await import('./checks.ts');
    findings.push(...(await checkParties(input.environment, checked)));
    for (const { check, state, says } of findings) input.terminal.line(`${MARK[state]}  ${check}: ${says}`);
    const problems = problemsOf(findings);
    input.terminal.line();
    input.terminal.line(problems.length === 0 ? 'no problems' : `${counted(problems.length, 'problem')}:`);
    for (const [n, { check, says, todo = '' }] of problems.entries())
      input.terminal.line(`${n + 1}. ${check}: ${says}\n   ${todo}`);
    const failures = findings.filter(({ state }) => state === 'failed').length;
    return { json: { failed: failures, findings }, ...(failures > 0 && { exitCode: EXIT_CODE.failed }) };
  },
});

/** What a service cannot run with comes first. */
function problemsOf(findings: readonly Finding[]): readonly Finding[] {
  return (['failed', 'warning'] as const).flatMap((kind) => findings.filter(({ state }) => state === kind));
}
