/** A device of the SDK inside the process of a trial, and updates that no quantiser rounds. */
import { connect } from '@basa/client/internal/connect.ts';
import {
  type BasaClient,
  inMemoryStoreForTests,
  nodeOutside,
  ProblemError,
  RefusedError,
  UnreachableError,
} from '@basa/client/node';
import type { Signer } from '@basa/masking';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import type { DeviceServices } from '@basa/testkit/processes/test-processes.ts';

interface SdkDevice {
  readonly signer?: Signer;
  readonly outside?: Parameters<typeof connect>[0];
  readonly retry?: Parameters<typeof connect>[2]['retry'];
}

/** Its store is in memory, and it accepts batches of two without noise. */
export function sdkDevice(services: DeviceServices, token: string, device: SdkDevice = {}): Promise<BasaClient> {
  const { signer = createNodeSigner(nodeRandomBytes(32)), outside = nodeOutside(), retry } = device;
  const floor = { minimum: 2, noNoise: true };
  return connect(outside, inMemoryStoreForTests(signer), { ...services, token, floor, ...(retry && { retry }) });
}

/** True if a service is down or overloaded, or has not heard of an authority since a restart: the device tries again. */
export function isPassing(error: unknown): boolean {
  if (error instanceof RefusedError) return error.code === 'epochs-missing';
  return error instanceof UnreachableError || error instanceof ProblemError;
}

export const LEVEL: number = 2 ** 16;

/** Whole numbers of quantiser steps, another pattern for each user. */
export function numberOf(user: number, place: number): number {
  return (((place + 7 * user) % 101) - 50) / LEVEL;
}
