/** Settings that belong together: `paper` as in the paper's experiments, `production` for devices that come and go for months. */
import { CommandError } from '../shell/command.ts';
import type { ServiceName } from './places.ts';

export interface TaskPreset {
  readonly bufferSize: number;
  readonly leaseSeconds: number;
  readonly stallSeconds: number;
  readonly maxStaleness: number;
}

const TASK: Readonly<Record<string, () => Promise<TaskPreset>>> = {
  async paper() {
    const { TASK_DEFAULTS } = await import('@basa/client/operator');
    return {
      bufferSize: TASK_DEFAULTS.bufferSize,
      leaseSeconds: TASK_DEFAULTS.uploadLeaseMs / 1000,
      stallSeconds: TASK_DEFAULTS.stallMs / 1000,
      maxStaleness: TASK_DEFAULTS.maxStaleness,
    };
  },
  async production() {
    const { DEFAULT_MAX_STALENESS } = await import('@basa/protocol/policy');
    return {
      bufferSize: 32,
      leaseSeconds: 900,
      stallSeconds: 300,
      maxStaleness: DEFAULT_MAX_STALENESS,
    };
  },
};

const TLS = { host: '0.0.0.0', tlsKeyFile: '/etc/basa/tls.key', tlsCertFile: '/etc/basa/tls.crt' };
const SERVICE: Readonly<Record<string, Readonly<Record<ServiceName, object>>>> = {
  paper: {
    server: { dataFolder: './server-data', authorityUrl: 'http://127.0.0.1:7801' },
    authority: { dataFolder: './authority-data', port: 7801, keyFile: './authority.key' },
  },
  production: {
    server: { ...TLS, dataFolder: '/var/lib/basa-server', keepModels: 100, keepBuffersDays: 30 },
    authority: {
      ...TLS,
      dataFolder: '/var/lib/basa-authority',
      port: 7801,
      keyFile: '/etc/basa/authority.key',
    },
  },
};

export const PRESET_NAMES: readonly string[] = Object.keys(TASK);
const PAPER = 'paper';

export function taskPreset(name: string = PAPER): Promise<TaskPreset> {
  return (TASK[name] ?? unknown(name))();
}

/** The values that a preset writes into the configuration of a service. */
export function servicePreset(name: string = PAPER, service: ServiceName): object {
  return (SERVICE[name] ?? unknown(name))[service];
}

function unknown(name: string): never {
  throw new CommandError(`there is no preset "${name}"; choose one of ${PRESET_NAMES.join(', ')}`);
}
