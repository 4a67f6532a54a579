/** A batch of three uploads whose four authorities are asked for votes and sums: three must vote, and one may lie. A test says what they answer. */

import { toHex } from '@basa/masking';
import type { Ctx } from '@basa/protocol';
import { openShotBatch } from '@basa/protocol/internal/one-shot/sums.ts';
import { endorse } from '@basa/protocol/internal/wire/council.ts';
import { type Batch, batchCtxOf, Epoch, epochNameOf, Vote } from '@basa/protocol/wire';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { bytes, uploadOf } from './store-samples.ts';

export function council() {
  const world = new ShotWorld();
  const { task, policy } = world;
  const { suite } = world.environment.tools;
  const { epochs } = world.shown();
  const known = new Map(epochs.map((epoch): [string, Epoch] => [toHex(Epoch.statementHash(suite, epoch)), epoch]));
  const names = [1, 2, 3].map((n) => bytes(n) as Ctx);
  const named = epochs.map((epoch) => epochNameOf(suite, epoch));
  const shots = [1, 2, 3].map((n) => ({ name: bytes(n) as Ctx, upload: uploadOf(n, { epochs: named }), version: 0 }));
  const headers = shots.map(({ upload }) => upload.header);
  const batch: Batch = { task, uploads: names };
  const ctx = batchCtxOf(suite, batch);
  const users = headers.map(({ user }) => user);
  const sum = openShotBatch(policy, { ctx, batch, version: 0, users });
  const signerOf = (authority: number) => world.authority(authority).base.ports.signer;
  const voteOf = (authority: number, change: Partial<Vote> = {}): Vote =>
    endorse(Vote, policy, signerOf(authority), { task, ctx, ...change });
  const ports = { suite };
  const closing = { suite, task, policy, ctx, headers };
  return { world, task, policy, suite, ports, epochs, known, names, shots, batch, ctx, sum, closing, signerOf, voteOf };
}
