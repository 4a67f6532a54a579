/**
 * The tasks and devices of an authority as one restorable state machine. Epochs, votes and sums are in `one-shot/authority.ts`.
 *
 * A step reads the state and returns records with its answer; it changes nothing. Once the records are durable, `apply` makes
 * them true, and only then may the answer leave. Records of a step that was decided before others became true are rejected. After
 * a crash, `AttributeAuthority.restore(ports, records)` is the same authority; if the last records were lost, the heads that
 * others saw of its log (`start`, `meetHead`) reveal it.
 */
import type { RevocationRequest, Revocations } from '../wire/authority-messages.ts';
import type { Millis, TaskId, UserId } from '../wire/brands.ts';
import { type Certificate, type CertificateBody, userIdOf } from '../wire/certificate.ts';
import type { Head } from '../wire/head.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { refused } from '../wire/refusals.ts';
import { declined, type Transition, unchanged } from '../wire/transition.ts';
import { enrolDevice, revokeDevice } from './device.ts';
import { signHead } from './head.ts';
import { LogInMemory, type PastLog } from './past-log.ts';
import type { AuthorityPorts } from './ports.ts';
import type { AuthorityRecord } from './records.ts';
import { tellRevocations } from './revocations.ts';
import { meetHead, meetWitness } from './rollback.ts';
import { AuthorityState } from './state.ts';
import { type AuthorityTask, createTask } from './task.ts';

export interface AuthorityStep<Answer> extends Omit<Transition<never, AuthorityRecord, Answer>, 'state'> {
  /** The length of the log when the step was decided; missing if it was not asked. */
  readonly decidedAt?: number;
}

export class AttributeAuthority {
  readonly #ports: AuthorityPorts;
  #state: AuthorityState;

  /** `past` is the log on disk; without one, the authority keeps its log in memory. */
  constructor(ports: AuthorityPorts, past: PastLog = new LogInMemory()) {
    this.#ports = ports;
    this.#state = new AuthorityState(ports.suite, past);
  }

  static restore(ports: AuthorityPorts, records: Iterable<AuthorityRecord>, past?: PastLog): AttributeAuthority {
    const authority = new AttributeAuthority(ports, past);
    authority.apply(records);
    return authority;
  }

  /**
   * The records are durable, and true from now on: those of a step, from before a restart, or of another node of this authority.
   * `decidedAt` is the step's.
   */
  apply(records: Iterable<AuthorityRecord>, decidedAt: number = this.#state.sequence): void {
    const { sequence } = this.#state;
    if (decidedAt !== sequence)
      throw new Error(`the step was decided after ${decidedAt} records, and there are ${sequence} by now`);
    for (const entry of records) this.#state.apply(entry);
  }

  /** A copy of this authority for steps that become durable together: applying records to a draft changes nothing here. */
  draft(): AttributeAuthority {
    const draft = new AttributeAuthority(this.#ports);
    draft.#state = this.#state.draft();
    return draft;
  }

  get publicKey(): Uint8Array {
    return this.#ports.signer.publicKey;
  }

  createTask(policy: TaskPolicy): AuthorityStep<{ readonly task: TaskId }> {
    const step = createTask(this.#ports, policy);
    const isKnown = 'task' in step.answer && this.#state.task(step.answer.task) !== undefined;
    return this.#decided(isKnown ? unchanged(undefined, step.answer) : step);
  }

  enrol(body: CertificateBody): AuthorityStep<Certificate> {
    return this.#withTask(body.task, (task) => {
      const device = this.#state.device(userIdOf(this.#ports.suite, body.deviceKey));
      return enrolDevice(this.#ports, task.policy, device, body);
    });
  }

  revoke(user: UserId, now: Millis): AuthorityStep<{ readonly kind: 'revoked' }> {
    return this.#decided(revokeDevice(this.#state.device(user), user, this.#state.tasks, now));
  }

  isRevoked(user: UserId): boolean {
    return this.#state.device(user)?.revoked === true;
  }

  /** The revoked devices of a task, for its server: the head gives their number. */
  revocations(request: RevocationRequest): AuthorityStep<Revocations> {
    return this.#withTask(request.task, (task) => tellRevocations(this.#ports, task, this.#state, request));
  }

  /** The position of the durable log; others keep it and show it back. */
  head(): Head {
    return signHead(this.#ports.signer, this.#state.position);
  }

  /** A head of this authority that contradicts its log proves a rollback. */
  meetHead(seen: Head, freshBranch: Uint8Array): AuthorityStep<{ readonly rolledBack: boolean }> {
    return this.#decided(meetHead({ ports: this.#ports, state: this.#state, freshBranch }, seen));
  }

  /** After a restart: the witness is the last head kept elsewhere. */
  start(witness: Head | undefined, freshBranch: Uint8Array): AuthorityStep<{ readonly rolledBack: boolean }> {
    return this.#decided(meetWitness({ ports: this.#ports, state: this.#state, freshBranch }, witness));
  }

  #withTask<State, Answer>(
    id: TaskId,
    step: (task: AuthorityTask) => Transition<State, AuthorityRecord, Answer>,
  ): AuthorityStep<Answer> {
    const task = this.#state.task(id);
    return this.#decided<State | undefined, Answer>(
      task === undefined ? declined(undefined, refused('task-unknown')) : step(task),
    );
  }

  #decided<State, Answer>({
    records,
    answer,
    events,
  }: Transition<State, AuthorityRecord, Answer>): AuthorityStep<Answer> {
    return { records, answer, events, decidedAt: this.#state.sequence };
  }
}
