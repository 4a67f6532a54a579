/** `basa bench`: what a contribution costs on this machine. */
import { type Command, numberFlag, textFlag } from '../command.ts';
import { engineOf } from '../engines.ts';
import { table } from '../terminal.ts';

export const bench: Command = {
  name: 'bench',
  summary: 'measures what a contribution costs a device here',
  usage: `  --buffer <n>         K (10)
  --parameters <n>     d (1048576)
  --engine <name>      slot-keys or cp-abe (slot-keys)`,
  flags: { buffer: { type: 'string' }, parameters: { type: 'string' }, engine: { type: 'string' } },
  opening: 'measuring; this takes some seconds',
  async run(input) {
    const bufferSize = numberFlag(input, 'buffer', { min: 2, max: 1024, fallback: 10 });
    const parameters = numberFlag(input, 'parameters', { min: 1, max: 100_000_000, fallback: 2 ** 20 });
    const engine = engineOf(textFlag(input, 'engine') ?? 'slot-keys');
    const { measureContribution, TURNS } = await import('../bench/contribution.ts');
    const measured = await measureContribution({ engine, bufferSize, parameters });
    const rows = measured.map(({ name, ms, peer, ratio }) => [
      name,
      ms.toFixed(1),
      `${ratio.toFixed(2)} times ${peer}`,
    ]);
    input.terminal.line(`K = ${bufferSize}, d = ${parameters}, ${engine}; best of ${TURNS}, the last slot of a buffer`);
    input.terminal.line(table([['', 'ms', ''], ...rows]));
    return { json: { bufferSize, parameters, engine, measured } };
  },
};
