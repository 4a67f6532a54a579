/** The program `basa`: every command, in the order of `--help`. */
import { demo } from './demo/demo.ts';
import { dev } from './demo/dev.ts';
import { client } from './device/client.ts';
import { configCheck, configPrint } from './operate/config.ts';
import { doctor } from './operate/doctor.ts';
import { init } from './operate/init.ts';
import { login } from './operate/login.ts';
import { authority, backup, keysRotateVault, restore, server } from './operate/services.ts';
import { newProject } from './project/new.ts';
import { simulate } from './project/simulate.ts';
import { type Program, runProgram } from './shell/cli.ts';
import type { Command } from './shell/command.ts';
import { completionOf } from './shell/completion.ts';
import type { Streams } from './shell/terminal.ts';
import { deviceExport, deviceImport, deviceList, keysEnroll, keysMake, keysRevoke } from './tasks/devices.ts';
import { evaluate } from './tasks/evaluate.ts';
import { plan } from './tasks/plan.ts';
import { taskCreate } from './tasks/task-create.ts';
import { taskDelete, taskExport, taskFinish, taskList, taskPause, taskResume, taskShow } from './tasks/tasks.ts';

export const COMMANDS: readonly Command[] = [
  demo,
  dev,
  newProject,
  simulate,
  init,
  login,
  server,
  authority,
  configCheck,
  configPrint,
  doctor,
  backup,
  restore,
  client,
  plan,
  taskCreate,
  taskList,
  taskShow,
  taskPause,
  taskResume,
  taskFinish,
  taskDelete,
  taskExport,
  evaluate,
  deviceList,
  deviceExport,
  deviceImport,
  keysMake,
  keysEnroll,
  keysRevoke,
  keysRotateVault,
  completionOf(() => COMMANDS),
];

const BASA: Program = {
  name: 'basa',
  about: 'secure aggregation for asynchronous federated learning',
  commands: COMMANDS,
  closing: [
    'Every command accepts --help, --debug and --json. `basa <group> --help` lists the commands of a group, for example `basa task --help`.',
    '`basa --version` prints the version. `basa completion --help` explains completion with the Tab key.',
  ],
};

/** Resolves with the exit code. `typed` is the command that a person types to start it; hints are written with it. */
export function runCli(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  streams: Streams = process,
  typed = 'basa',
): Promise<number> {
  return runProgram(BASA, args, environment, streams, typed);
}
