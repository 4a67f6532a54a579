/** The end of a contribution: the server has the upload. */
import { refused } from '../wire/refusals.ts';
import { declined, unchanged } from '../wire/transition.ts';
import { type Device, type DeviceStep, recorded } from './device.ts';
import type { UserPorts } from './session.ts';

/** The server has the bytes, durably: the seeds are not needed any more; wipe the session once this is recorded. */
export function acknowledgeUpload(
  ports: Pick<UserPorts, 'suite'>,
  device: Device,
): DeviceStep<{ readonly kind: 'acknowledged' }> {
  const step = device.session?.step;
  if (step === 'acknowledged') return unchanged(device, { kind: 'acknowledged' });
  if (step !== 'frozen' && step !== 'shot') return declined(device, refused('wrong-step'));
  return recorded(ports.suite, device, [{ kind: 'acknowledged' }], { kind: 'acknowledged' });
}
