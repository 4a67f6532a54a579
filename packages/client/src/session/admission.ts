/** Asks for a place before a model is fetched: the number of devices that train at a time decides the age of their updates. */
import type { Rejection } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { withCertificate } from './enrol.ts';

/** A place to train in. */
export interface Place {
  readonly kind: 'place';
  /** It lapses then; a later update is still accepted if there is room. */
  readonly endsInMs: number;
}

/** A place, or a rejection that says when to ask again. */
export function askForPlace(context: DeviceContext, signal: AbortSignal): Promise<Place | Rejection> {
  const { server, models, task } = context;
  return withCertificate(context, signal, async (certificate): Promise<Place> => {
    const place = await server.admission(task, certificate, signal);
    models.handed(place.model);
    return { kind: 'place', endsInMs: place.endsInMs };
  });
}
