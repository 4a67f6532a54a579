/** A lie of services that the kit plays, and how it is told: a proxy changes what passes. */
import type { Signer } from '@basa/masking';
import type { EndorsedCodec, Endorsement, TaskPolicy } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import type { Answer, Asked, ServiceProxy } from '../service-proxy.ts';
import type { Step } from '../steps.ts';
import type { Scene } from './client-trial.ts';

export interface Lie {
  readonly name: string;
  /** The first step that a client which detected the lie does not take. */
  readonly before: Step;
  /** True if it needs another device in the buffer. */
  readonly isAboutOthers?: boolean;
  /** The number of authorities of the task (1). */
  readonly authorities?: number;
  /** The policy of its task, if it is not the usual one. */
  readonly policy?: Partial<TaskPolicy>;
  /** Settings of the client that take the place of the right ones. */
  readonly settings?: Readonly<Record<string, string>>;
  tell(scene: Scene): void | Promise<void>;
}

/** Somebody who is neither the server nor an authority. */
export const STRANGER = createNodeSigner(nodeRandomBytes(32));

/** Changes the good answers of these paths. */
export function changing(
  proxy: ServiceProxy,
  path: RegExp,
  change: (body: Uint8Array, asked: Asked) => Uint8Array,
): void {
  proxy.onAnswer = (asked: Asked, answer: Answer) =>
    path.test(asked.path) && answer.status === 200 ? { ...answer, body: change(answer.body, asked) } : answer;
}

export function flipped(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, n) => (n === bytes.length - 1 ? byte ^ 1 : byte));
}

/** As an authority would sign it. */
export function signedBy<T>(
  signer: Signer,
  codec: EndorsedCodec<T>,
  body: T,
  authority: number = 0,
): readonly Endorsement[] {
  return [{ authority, signature: signer.sign(codec.statement(body)) }];
}
