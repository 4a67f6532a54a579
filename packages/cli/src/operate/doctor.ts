/** `basa doctor`: checks everything a service needs, and gives advice on every problem. */

import { CONFIG_FLAGS, placesOf, serviceOf } from '../flags/places.ts';
import { type Command, command, EXIT_CODE } from '../shell/command.ts';
import type { Finding } from './finding.ts';

const MARK: Readonly<Record<Finding['state'], string>> = { fine: 'ok  ', warning: 'warn', failed: 'FAIL' };

export const doctor: Command = command({
  name: 'doctor',
  summary: 'checks versions, ports, disk, clocks, permissions, records and the authority, and says what to do',
  takes: { 'server | authority': 'which service; without one, only this machine' },
  flags: CONFIG_FLAGS,
  notes: [
    'Changes nothing, and may run beside the service; run it as the same user. Ends with code 1 where a check failed.',
  ],
  opening: 'looking',
  async run(input) {
    const { checkVersions } = await import('./check-machine.ts');
    const findings = [...(await checkVersions())];
    if (input.positionals.length > 0) {
      const { checkService } = await import('./check-services.ts');
      findings.push(...(await checkService(serviceOf(input), placesOf(input))));
    }
    for (const { check, state, says, todo } of findings) {
      input.terminal.line(`${MARK[state]}  ${check}: ${says}`);
      if (todo !== undefined) input.terminal.line(`      ${todo}`);
    }
    const failures = findings.filter(({ state }) => state === 'failed').length;
    input.terminal.line(failures === 0 ? 'nothing is in the way' : `${failures} of ${findings.length} checks failed`);
    return { json: { failed: failures, findings }, ...(failures > 0 && { exitCode: EXIT_CODE.failed }) };
  },
});
