/** The program `basa`: every command, in the order of `--help`. */

import { demo } from './demo/demo.ts';
import { dev } from './demo/dev.ts';
import { client } from './device/client.ts';
import { backupAuthority, backupServer, restoreAuthority, restoreServer } from './operate/backup.ts';
import { configCheck, configPrint } from './operate/config.ts';
import { doctor } from './operate/doctor.ts';
import { init } from './operate/init.ts';
import { keysRotateVault } from './operate/keys-rotate.ts';
import { login } from './operate/login.ts';
import { authority, server } from './operate/services.ts';
import { newProject } from './project/new.ts';
import { simulate } from './project/simulate.ts';
import { runProgram, type Streams } from './shell/cli.ts';
import type { Command } from './shell/command.ts';
import { completionOf } from './shell/completion-command.ts';
import type { Program } from './shell/help.ts';
import { deviceList } from './tasks/device.ts';
import { deviceExport, deviceImport } from './tasks/device-successor.ts';
import { keysEnroll, keysMake, keysRevoke } from './tasks/keys.ts';
import { plan } from './tasks/plan.ts';
import { taskCreate } from './tasks/task-create.ts';
import { taskExport } from './tasks/task-export.ts';
import { taskList } from './tasks/task-list.ts';
import { taskShow } from './tasks/task-show.ts';
import { taskDelete, taskFinish, taskPause, taskResume } from './tasks/task-state.ts';

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
  backupServer,
  backupAuthority,
  restoreServer,
  restoreAuthority,
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
