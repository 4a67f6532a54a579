/** A real Prometheus over running services, with the rules of deploy/ in a shorter time. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@basa/service/free-port';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { ROOT } from '@basa/testkit/root.ts';

interface Alert {
  readonly labels: { readonly alertname: string };
  readonly state: string;
}

const LOOK_MS = 500;

export class Prometheus {
  readonly #child: ChildProcess;
  readonly #url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.#url = url;
  }

  /** Called before anything else is started. */
  static check(): void {
    if (spawnSync('prometheus', ['--version']).error !== undefined)
      throw new MissingError('this drill needs Prometheus, which is not installed; install the package prometheus');
  }

  /** `targets`: host and port of each service, by the name of its job. */
  static async start(folder: string, token: string, targets: Readonly<Record<string, string>>): Promise<Prometheus> {
    const jobs = Object.entries(targets).map(([name, target]) => ({
      job_name: name,
      authorization: { credentials: token },
      static_configs: [{ targets: [target] }],
    }));
    const global = { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' };
    writeFileSync(
      join(folder, 'alerts.yml'),
      shorter(readFileSync(join(ROOT, 'deploy/prometheus/alerts.yml'), 'utf8')),
    );
    // JSON is YAML.
    const config = { global, rule_files: ['alerts.yml'], scrape_configs: jobs };
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
    const address = `127.0.0.1:${await freePort()}`;
    const places = [`--config.file=${join(folder, 'prometheus.yml')}`, `--storage.tsdb.path=${join(folder, 'series')}`];
    const child = spawn('prometheus', [...places, `--web.listen-address=${address}`], { stdio: 'ignore' });
    const started = new Prometheus(child, `http://${address}`);
    while (!(await started.#isReady())) await sleep(LOOK_MS);
    return started;
  }

  /** Waits until this alert fires; false if it does not in time. */
  async fires(name: string, withinMs: number): Promise<boolean> {
    const until = Date.now() + withinMs;
    for (;;) {
      if ((await this.#firing()).includes(name)) return true;
      if (Date.now() > until) return false;
      await sleep(LOOK_MS);
    }
  }

  async #firing(): Promise<readonly string[]> {
    const answer = await fetch(`${this.#url}/api/v1/alerts`);
    const { data } = (await answer.json()) as { readonly data: { readonly alerts: readonly Alert[] } };
    return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
  }

  async #isReady(): Promise<boolean> {
    return fetch(`${this.#url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    await gone;
  }
}

/** Nothing waits, an hour is a minute, and a model is old after ten seconds. */
function shorter(rules: string): string {
  return rules
    .replaceAll(/^( *)for: \S+$/gm, '$1for: 0s')
    .replaceAll(/\[(?:1h|10m)\]/g, '[60s]')
    .replaceAll(/offset (?:1h|10m)/g, 'offset 60s')
    .replaceAll('> 21600', '> 10');
}
