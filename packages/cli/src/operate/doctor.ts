/** `basa doctor`: checks everything a service needs, and gives advice on every problem. */

import { type Command, command, EXIT_CODE } from '../shell/command.ts';
import { ownVersion } from '../shell/process.ts';
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
    const checks = await import('./checks.ts');
    const service = input.positionals.length > 0 ? serviceOf(input) : undefined;
    const findings = [
      ...checks.checkVersions(await ownVersion()),
      ...(service === undefined ? [] : await checks.checkService(service, placesOf(input))),
      ...(await checks.checkParties(input.environment, service)),
    ];
    for (const { check, state, says } of findings) input.terminal.line(`${MARK[state]}  ${check}: ${says}`);
    // What a service cannot run with comes first.
    const problems = (['failed', 'warning'] as const).flatMap((kind) => findings.filter(({ state }) => state === kind));
    input.terminal.line();
    input.terminal.line(problems.length === 0 ? 'no problems' : `${counted(problems.length, 'problem')}:`);
    for (const [n, { check, says, todo = '' }] of problems.entries())
      input.terminal.line(`${n + 1}. ${check}: ${says}\n   ${todo}`);
    const failures = findings.filter(({ state }) => state === 'failed').length;
    return { json: { failed: failures, findings }, ...(failures > 0 && { exitCode: EXIT_CODE.failed }) };
  },
});
