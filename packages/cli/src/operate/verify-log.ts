/** `basa authority verify-log`: checks an authority's log. */
import { readFile, writeFile } from 'node:fs/promises';
import type { LogReport } from '@basa/authority';
import { AUTHORITY_FLAGS, AUTHORITY_TOKEN, authorityOperator } from '../flags/connection.ts';
import { type Command, CommandError, type CommandInput, command, EXIT_CODE } from '../shell/command.ts';
import { pinnedList, text } from '../shell/flag.ts';
import type { Terminal } from '../shell/terminal.ts';

const VERIFY_FLAGS = {
  key: pinnedList({
    help: 'public key of the authority (64 digits), or one for each address, separated by commas',
    variable: 'BASA_AUTHORITY_KEY',
  }),
  file: text({ value: 'path', help: 'saved log to verify; without it, the log is downloaded' }),
  save: text({
    value: 'path',
    help: 'save the downloaded log; the logs of several authorities become path.1, path.2 and so on',
  }),
  ...AUTHORITY_FLAGS,
  authority: text({
    value: 'url',
    help: 'address of the authority, or several separated by commas',
    variable: 'BASA_AUTHORITY',
  }),
  'authority-token': text(AUTHORITY_TOKEN),
};
type VerifyInput = CommandInput<typeof VERIFY_FLAGS>;

export const authorityVerifyLog: Command = command({
  name: 'authority verify-log',
  summary: "verify an authority's log: its hash chain, its signatures, and its rules",
  flags: VERIFY_FLAGS,
  async run(input) {
    const { file, key: keys, save } = input.flags;
    const logs = file === undefined ? await askedLogs(input) : [await readLog(file)];
    if (keys.length !== logs.length)
      throw new CommandError(
        `there are ${logs.length} logs but ${keys.length} keys; give --key one key for each log, in the same order`,
      );
    const reports: LogReport[] = [];
    for (const [n, bytes] of logs.entries()) {
      if (save !== undefined) await writeFile(logs.length === 1 ? save : `${save}.${n + 1}`, bytes);
      if (logs.length > 1) input.terminal.line(`authority ${n + 1}:`);
      reports.push(await verified(input.terminal, bytes, keys[n] as string));
    }
    const isGood = reports.every((report) => report.isGood);
    const [only] = reports;
    return {
      json: reports.length === 1 ? (only as LogReport) : { isGood, logs: reports },
      exitCode: isGood ? EXIT_CODE.fine : EXIT_CODE.failed,
    };
  },
});

async function askedLogs(input: VerifyInput): Promise<readonly Uint8Array[]> {
  const { authority } = input.flags;
  if (authority === undefined)
    throw new CommandError('--authority is missing: add it, or set the variable BASA_AUTHORITY');
  return (await authorityOperator({ ...input, flags: { ...input.flags, authority } })).logs();
}

async function verified(terminal: Terminal, bytes: Uint8Array, key: string): Promise<LogReport> {
  const { verifyLog } = await import('@basa/authority');
  const { fromHex } = await import('@basa/masking');
  const report = verifyLog(bytes, fromHex(key) as Uint8Array);
  terminal.line(
    `${report.records} records: ${Object.entries(report.counts)
      .map(([kind, count]) => `${count} ${kind}`)
      .join(', ')}`,
  );
  for (const problem of report.problems) terminal.line(`WRONG: ${problem}`);
  if (report.problems.some((problem) => problem.startsWith('head:')))
    terminal.line('The head of the log is not signed with --key. First check that this is the key of that authority.');
  terminal.line(report.isGood ? 'the log is valid: complete, signed, and every rule holds' : 'the log is NOT valid');
  return report;
}

async function readLog(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new CommandError(`--file ${path}: ${(error as Error).message}`);
  }
}
