/** The policy of the one-shot scenes, and the uploads that the client sent. */
import { fromHex, toHex } from '@basa/masking';
import { HEADER, SERVER_PATH, type ShotHeader, type Standings, shotUploadCodec, standingsCodec } from '@basa/protocol';
import type { Asked } from '../../service-proxy.ts';
import { isStep } from '../../steps.ts';
import type { ClientTrial, Scene } from '../client-trial.ts';
import { changing } from '../lie.ts';

/** The authority that a client of several may do without. */
export const LEFT_OUT = 1;

/** Every piece of an upload that the client sent, in order. */
export function pieces({ asked }: Scene): readonly Asked[] {
  return asked.filter((one) => isStep('shot', one));
}

/** The signed headers that it sent, each once: as many uploads as it made. */
export function uploadsOf(scene: Scene): readonly ShotHeader[] {
  const headers = new Set(pieces(scene).map(({ headers: { [HEADER.upload]: hex } }) => String(hex)));
  return [...headers].map((hex) => shotUploadCodec.decode(fromHex(hex) ?? new Uint8Array()).header);
}

/** The statements of the authorities that the server shows to the client at this moment. */
export async function toldStandings({ trial, task }: Scene): Promise<Standings> {
  return standingsCodec.decode(await standingsOf(trial, task));
}

export async function standingsOf({ services, signal }: ClientTrial, task: string): Promise<Uint8Array> {
  const response = await fetch(new URL(SERVER_PATH.standings(task), services.serverUrl), { signal });
  if (!response.ok) throw new Error(`the server tells no standings: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

export function changingStandings(scene: Scene, change: (told: Standings) => Standings): void {
  tellingStandings(scene, (told) => standingsCodec.encode(change(standingsCodec.decode(told))));
}

/** Wherever the server shows them: by themselves, or with a place. */
export function tellingStandings({ server }: Scene, change: (told: Uint8Array) => Uint8Array): void {
  changing(server, /\/(standings|admissions)$/, (body, { path }) => {
    if (path.endsWith('/standings')) return change(body);
    const place = JSON.parse(new TextDecoder().decode(body)) as { readonly standings?: string };
    const told = fromHex(place.standings ?? '');
    if (told === undefined || told.length === 0) return body;
    return new TextEncoder().encode(JSON.stringify({ ...place, standings: toHex(change(told)) }));
  });
}

/** The client is told the truth, and then a model that is not the logged one: it has seen the statements, and gives nothing. */
export async function sawStandings(scene: Scene): Promise<void> {
  changing(scene.server, /\/models\/\d+$/, (body) => body.map((byte) => byte ^ 1));
  const { code } = await scene.run();
  scene.server.behave();
  if (code === 0 || pieces(scene).length > 0)
    throw new Error('the client trained on a model that is not the logged one');
}
