/** The requests of a one-shot federation's server to authorities, with any change that a search or a test makes in them. */
import type { Signer } from '@basa/masking';
import { ServerRole } from '@basa/protocol/one-shot';
import { type Batch, BatchVoteRequest, InspectRequest, ReleaseRequest, type ShotHeader } from '@basa/protocol/wire';
import type { StoredShot } from './one-shot-store.ts';
import { type ClosingStore, shotsOf } from './one-shot-world.ts';

/** Other values of its fields, or another signer. */
export type Changed<Request> = Partial<Omit<Request, 'signature'>> & { readonly signer?: Signer };

export function inspectRequest(
  server: ClosingStore,
  shots: readonly StoredShot[],
  { signer, ...change }: Changed<InspectRequest> = {},
): InspectRequest {
  const headers = headersOf(shots);
  const body = {
    task: server.world.task,
    epochs: ServerRole.distinctEpochs(server.view, headers),
    uploads: shots.map((shot) => server.shown(shot)),
    ...change,
  };
  return { ...body, signature: signerOf(server, signer).sign(InspectRequest.statement(body)) };
}

export function voteRequest(
  server: ClosingStore,
  batch: Batch,
  { signer, ...change }: Changed<BatchVoteRequest> = {},
): BatchVoteRequest {
  const body = { batch, ...change };
  return { ...body, signature: signerOf(server, signer).sign(BatchVoteRequest.statement(body)) };
}

export function releaseRequest(
  server: ClosingStore,
  batch: Batch,
  { signer, ...change }: Changed<ReleaseRequest> = {},
): ReleaseRequest {
  const shots = shotsOf(server, batch);
  const epochs = ServerRole.distinctEpochs(server.view, headersOf(shots));
  const uploads = shots.map((shot) => server.shown(shot));
  const body = { batch, votes: [], epochs, uploads, wanted: [], ...change };
  return { ...body, signature: signerOf(server, signer).sign(ReleaseRequest.statement(body)) };
}

export function headersOf(shots: readonly StoredShot[]): readonly ShotHeader[] {
  return shots.map(({ upload }) => upload.header);
}

function signerOf({ world }: ClosingStore, signer: Signer = world.server.ports.signer): Signer {
  return signer;
}
