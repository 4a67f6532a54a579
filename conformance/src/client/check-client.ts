/** Plays server and authority against a client, scene by scene. */
import { KIT_BUFFER_SIZE } from '../kit-policy.ts';
import { type Check, Report, type Verdict } from '../report.ts';
import { ClientTrial, type TrialServices } from './client-trial.ts';
import type { StartClient } from './client-under-test.ts';
import { fewOutcomesScene, oneDownScene, oneLiesScene } from './council-scene.ts';
import { faultScene } from './fault-scene.ts';
import { honestScene } from './honest-scene.ts';
import { killedScene } from './killed-scene.ts';
import { lieScene } from './lie-scene.ts';
import { lies } from './lies.ts';
import { shotExpiredScene } from './one-shot/shot-expired-scene.ts';
import { shotFaultScene, shotKilledScene, shotRefusedScene, shotScene } from './one-shot/shot-scenes.ts';
import { replacedAuthorityScene } from './succession-scene.ts';
import { otherVersionScene, secondUpdateScene } from './version-scene.ts';

export interface ClientTest {
  readonly services: TrialServices;
  /** The parent of the client's folders. */
  readonly folder: string;
  readonly start: StartClient;
  readonly signal: AbortSignal;
  /** Selects scenes by name; all by default. */
  isPlayed?(scene: string): boolean;
  onCheck?(check: Check): void;
}

export async function checkClient(test: ClientTest): Promise<Verdict> {
  const { services, folder, start, signal, isPlayed = () => true, onCheck } = test;
  const report = new Report(onCheck);
  const trial = new ClientTrial(services, folder, start, signal);
  const scenes: readonly (readonly [name: string, play: () => Promise<void>])[] = [
    ['honest services', () => honestScene(trial, report)],
    ['failing services', () => faultScene(trial, report)],
    ['killed clients', () => killedScene(trial, report)],
    ['a buffer of another version', () => otherVersionScene(trial, report)],
    ['a second update on a version', () => secondUpdateScene(trial, report)],
    // A device follows a term by its own clock: later scenes may move the clocks of the services.
    ['a replaced authority', () => replacedAuthorityScene(trial, report)],
    ['several authorities, one down', () => oneDownScene(trial, report)],
    ['several authorities, one lies', () => oneLiesScene(trial, report)],
    ['several authorities, a buffer that ends', () => fewOutcomesScene(trial, report)],
    ['one-shot: honest services', () => shotScene(trial, report)],
    ['one-shot: failing services', () => shotFaultScene(trial, report)],
    ['one-shot: killed clients', () => shotKilledScene(trial, report)],
    ['one-shot: a refused upload', () => shotRefusedScene(trial, report)],
    ['one-shot: an upload that expires', () => shotExpiredScene(trial, report)],
    ...lies(services.serverSigner, KIT_BUFFER_SIZE).map(
      (lie) => [lie.name, () => lieScene(trial, lie, report)] as const,
    ),
  ];
  for (const [name, play] of scenes) {
    signal.throwIfAborted();
    if (isPlayed(name)) await report.play(name, play);
  }
  return report.verdict;
}
