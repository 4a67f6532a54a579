/** The tools of the routes of a server, and the readers of a task: its devices, and the tokens of operators and auditors. */

import { equalBytes, fromHex } from '@basa/masking';
import { HEADER } from '@basa/protocol/http';
import { Certificate, Devices } from '@basa/protocol/wire';
import { deviceOf, fail, granted, hexText, rememberRequest, type Service, Type } from '@basa/service';
import type { TaskLimits } from '../admission/task-admission.ts';
import { checkRevoked } from '../authority/authorities.ts';
import { AuthorityRefusal, AuthorityUnreachable } from '../authority/authority-http.ts';
import type { LiveTasks } from '../live/live-tasks.ts';
import type { ServerTools } from '../shots/context.ts';
import type { RunningTask } from '../tasks/running-task.ts';
import type { TaskBook } from '../tasks/task-book.ts';
import type { Bodies } from '../uploads/bodies.ts';

export interface RouteContext extends ServerTools {
  readonly service: Service;
  readonly tasks: TaskBook;
  readonly bodies: Bodies;
  readonly live: LiveTasks;
  readonly taskLimits: TaskLimits | undefined;
  readonly unsafePaperMode: boolean;
}

const ASK_AGAIN_MS = 2000;

export const taskParams = Type.Object({ task: hexText(32, 'the name of a task') });
export const versionParams = Type.Object({
  ...taskParams.properties,
  version: Type.String({ pattern: '^[0-9]{1,15}$' }),
});

/** The tools of the routes of a server. */
export async function foundTask({ tasks }: RouteContext, name: string): Promise<RunningTask> {
  return (await tasks.meet(name)) ?? fail('task-unknown');
}

/** For work that needs the authority. If the authority cannot do it now, the answer says so, and when to ask again. */
export async function askingAuthority<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isAuthoritys = error instanceof AuthorityUnreachable || error instanceof AuthorityRefusal;
    if (isAuthoritys) fail('authority-unreachable', { detail: error.message, retryAfterMs: ASK_AGAIN_MS });
    throw error;
  }
}

type ReadRequest = Parameters<typeof deviceOf>[0];

/** Refuses the device that signed the request unless this certificate makes it a device of the task that nobody revoked. */
export async function checkMember(
  { ports, store }: RouteContext,
  { read, task }: RunningTask,
  request: ReadRequest,
  certificate: Certificate,
): Promise<void> {
  const { user, deviceKey } = deviceOf(request);
  if (!equalBytes(certificate.deviceKey, deviceKey)) fail('not-yours');
  const problem = Devices.certificateProblem(ports.suite, { ...read.policy, task }, certificate);
  if (problem !== undefined) granted(problem);
  await checkRevoked(store, read.policy, user);
}

export interface Readers {
  /** `onRequest` of a route that shows models or results of the task in its path. */
  require(request: ReadRequest): Promise<void>;
  /** True if the request has a token that reads every task; a token that does not is refused. */
  hasToken(request: ReadRequest): Promise<boolean>;
  /** True for a reader of this task. A token or certificate that is not valid is refused. */
  mayRead(request: ReadRequest, task: RunningTask): Promise<boolean>;
}

export function readersOf(context: RouteContext): Readers {
  const { requireDevice, requireRole } = context.service;
  const [checkDevice, checkToken] = [requireDevice(), requireRole('operator', 'auditor')];

  async function hasToken(request: ReadRequest): Promise<boolean> {
    if (request.headers.authorization === undefined) return false;
    await checkToken(request);
    return true;
  }

  async function mayRead(request: ReadRequest, task: RunningTask): Promise<boolean> {
    if (task.hasPublicModels || (await hasToken(request))) return true;
    if (request.headers[HEADER.device] === undefined) return false;
    await checkDevice(request);
    await checkMember(context, task, request, certificateIn(request));
    rememberRequest(request);
    return true;
  }

  return {
    hasToken,
    mayRead,
    async require(request) {
      const task = await foundTask(context, (request.params as { readonly task: string }).task);
      if (!(await mayRead(request, task))) fail('readers-only');
    },
  };
}

/** Only the reader's own cache keeps what strangers may not read. */
export function cacheOf({ hasPublicModels }: RunningTask): 'public' | 'private' {
  return hasPublicModels ? 'public' : 'private';
}

function certificateIn({ headers }: ReadRequest): Certificate {
  const bytes = fromHex(String(headers[HEADER.certificate] ?? ''));
  if (bytes === undefined || bytes.length === 0)
    fail('malformed', { detail: `${HEADER.certificate}: missing or not hexadecimal` });
  return Certificate.decode(bytes);
}
