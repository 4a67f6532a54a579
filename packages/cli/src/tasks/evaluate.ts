/** `basa evaluate`: a score of the operator's own for each version, computed by a Python file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { SERVER_FLAGS, SERVER_TOKEN, serverOperator, TAKES_TASK, taskArgument } from '../flags/services.ts';
import { type Command, command, needed, text, yes } from '../shell/command.ts';

/** A line of clients/python/basa/evaluate.py; without a score, the numbers were not finite. */
interface Line {
  readonly error?: string;
  readonly version: number;
  readonly score?: number;
  readonly loss?: number;
}

export const evaluate: Command = command({
  name: 'evaluate',
  summary: 'score the versions of a model that the server cannot evaluate, until the task is finished',
  takes: TAKES_TASK,
  flags: {
    python: needed({
      value: 'file',
      help: 'a .py file with score(parameters), which returns a score, or a score and a loss',
    }),
    name: text({ help: 'name of the score; a larger score is better', default: 'score' }),
    once: yes('score the versions so far, and end'),
    ...SERVER_FLAGS,
    token: needed(SERVER_TOKEN),
  },
  notes: [
    'The server stores one score for each version, and shows it in `task ls`, `task show`, `task export` and Watch.',
    'Versions with a score of this name are left out, so you can stop and start this command at any time.',
  ],
  async run(input) {
    const { flags, signal, terminal } = input;
    const task = await taskArgument(input, await serverOperator(input));
    const { pythonError, pythonHere } = await import('../project/python-model.ts');
    const { python, env } = pythonHere();
    const child = spawn(python, ['-m', 'basa.evaluate', flags.python, flags.name, ...(flags.once ? ['once'] : [])], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...(env['NODE_EXTRA_CA_CERTS'] !== undefined && { SSL_CERT_FILE: env['NODE_EXTRA_CA_CERTS'] }), // Python's variable
        ...env,
        BASA_SERVER: flags.server,
        BASA_TASK: task,
        BASA_OPERATOR_TOKEN: flags.token,
        ...(flags['unsafe-plain-http'] && { BASA_UNSAFE_PLAIN_HTTP: '1' }),
      },
      signal,
    });
    const ended = once(child, 'close').then(
      ([code]) => `the program ended with code ${code}; its own words are above`,
      (error: Error) => `${python} does not start: ${error.message}`,
    );
    const scored: Line[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      const said = JSON.parse(line) as Line;
      const { error, version, score, loss } = said;
      if (error !== undefined) throw pythonError(flags.python, error);
      if (score === undefined) terminal.warn(`version ${version} gets no score, because a number was not finite`);
      else terminal.line(`version ${version}: ${flags.name} ${score}${loss === undefined ? '' : `, loss ${loss}`}`);
      if (score !== undefined) scored.push(said);
    }
    const why = await ended;
    signal.throwIfAborted();
    if (child.exitCode !== 0) throw pythonError(flags.python, why);
    return { json: { task, name: flags.name, versions: scored } };
  },
});
