/** The task of the demo and of `basa dev`: logistic regression on MNIST, in sealed mode with CP-ABE. */
import { join } from 'node:path';
import type { Dataset } from '@basa/learning';
import { encodeDataset, logisticRegression, partitionByDirichlet } from '@basa/learning';
import { fromHex, toHex } from '@basa/masking';
import type { TaskPolicy } from '@basa/protocol';
import { DEFAULT_TRAINING, encodePolicy } from '@basa/protocol';
import type { LocalServices } from '../local-services.ts';
import { MNIST_BLOCK_FLOOR } from '../models.ts';
import { makePolicy, modelOptions } from '../policy.ts';
import type { FleetWork } from './fleet-messages.ts';

/** A user of the fact sheet's MNIST task holds about 60 examples; here there are fewer users, each with more. */
const USERS = 120;
const PAUSE_MS = 400;
/** Long enough for a slow machine; a buffer with enough updates does not wait for it. */
const LEASE_MS = 60_000;
const STALL_MS = 3000;

export interface DemoTaskOptions {
  readonly name: string;
  readonly bufferSize: number;
  readonly seed: number;
  readonly stop: { readonly accuracy?: number; readonly version?: number };
}

/** At the authority, then at the server, with MNIST's test set to evaluate on. The same again is the same task. */
export async function createDemoTask(
  services: LocalServices,
  { name, bufferSize, seed, stop }: DemoTaskOptions,
  test: Dataset,
): Promise<{ readonly task: string; readonly policy: TaskPolicy }> {
  const model = logisticRegression();
  const policy = makePolicy({
    name,
    model,
    serverKey: fromHex(services.serverKey) ?? new Uint8Array(),
    bufferSize,
    training: DEFAULT_TRAINING,
    blockFloor: MNIST_BLOCK_FLOOR,
    uploadLeaseMs: LEASE_MS,
    openMs: 3_600_000,
    closeMs: 3_600_000,
  });
  const task = await services.authority.createTask(policy);
  await services.server.createTask({
    policy: toHex(encodePolicy(policy)),
    model: modelOptions(model),
    initial: { seed },
    stop,
    stallMs: STALL_MS,
  });
  await services.server.setExamples(task, encodeDataset(test));
  return { task, policy };
}

export interface FleetOptions {
  readonly devices: number;
  readonly dropShare: number;
  readonly folder: string;
  readonly seed: number;
}

/** Enrols so many devices, each with a share of the training set. */
export async function fleetWork(
  services: LocalServices,
  { devices, dropShare, folder, seed }: FleetOptions,
  task: string,
  train: Dataset,
): Promise<FleetWork> {
  const { labels, classes } = train;
  const partition = partitionByDirichlet({ labels, classes, users: Math.max(USERS, devices), alpha: 0.5, seed });
  const tokens = await services.authority.tokens(task, devices, Date.now() + 3_600_000);
  return {
    server: services.serverUrl,
    authority: services.authorityUrl,
    authorityKey: services.authorityKey,
    task,
    devices: tokens.map((token, number) => ({
      number,
      folder: join(folder, 'devices', String(number)),
      token,
      indices: partition.users[number] ?? new Uint32Array(),
    })),
    seed,
    pauseMs: PAUSE_MS,
    dropShare,
  };
}
