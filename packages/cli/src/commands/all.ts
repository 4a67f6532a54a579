/** Every command, in the order of `--help`. */
import type { Command } from '../command.ts';
import { backupAuthority, backupServer, restoreAuthority, restoreServer } from './backup.ts';
import { client } from './client.ts';
import { completionOf } from './completion.ts';
import { configCheck, configPrint } from './config.ts';
import { demo } from './demo.ts';
import { dev } from './dev.ts';
import { deviceList } from './device.ts';
import { doctor } from './doctor.ts';
import { init } from './init.ts';
import { authorityVerifyLog, inspectBuffer } from './inspect.ts';
import { keysEnroll, keysRevoke } from './keys.ts';
import { keysRotateVault } from './keys-rotate.ts';
import { migrateAuthority, migrateServer } from './migrate.ts';
import { newProject } from './new.ts';
import { plan } from './plan.ts';
import { authority, server } from './services.ts';
import { simulate } from './simulate.ts';
import { taskList } from './task.ts';
import { taskCreate } from './task-create.ts';
import { taskExport } from './task-export.ts';
import { taskShow } from './task-show.ts';
import { taskDelete, taskFinish, taskPause, taskResume } from './task-state.ts';
import { taskSuspects } from './task-suspects.ts';

export const COMMANDS: readonly Command[] = [
  demo,
  dev,
  newProject,
  simulate,
  init,
  server,
  authority,
  authorityVerifyLog,
  configCheck,
  configPrint,
  doctor,
  migrateServer,
  migrateAuthority,
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
  taskSuspects,
  deviceList,
  keysEnroll,
  keysRevoke,
  keysRotateVault,
  inspectBuffer,
  completionOf(() => COMMANDS),
];
