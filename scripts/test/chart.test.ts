/** `npm run gate -- chart` finds what it is there to find. */
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { documentsOf, missingToRender, render, valuesWith } from '../chart/chart.ts';
import { kubernetesProblems } from '../chart/kubernetes.ts';
import { checkValues } from '../chart/values-schema.ts';

it.each([
  ['a secret', { signingKey: '00' }, 'server.settings.signingKey is not a known key'],
  ['a key that does not exist', { tickMilliseconds: 10 }, 'server.settings.tickMilliseconds is not a known key'],
  ['a value of the wrong type', { tickMs: '10' }, 'server.settings.tickMs must be integer'],
])('the chart refuses %s among the settings', (_, settings, sentence) => {
  expect(() => checkValues(valuesWith({ server: { settings } }))).toThrow(sentence);
});

it('the chart accepts the file of a secret, and null takes a setting away', () => {
  const values = valuesWith({ server: { settings: { s3SecretAccessKeyFile: '/secrets/s3', drainMs: null } } });
  checkValues(values);
  expect(values).not.toHaveProperty('server.settings.drainMs');
  expect(values).toHaveProperty('server.settings.port', 7800);
});

it('an unknown and a wrong field of a manifest are found, and only those', () => {
  const budget = (spec: object) => ({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', spec });
  const found = kubernetesProblems([
    budget({ minAvailable: 1 }),
    budget({ minimumAvailable: 1 }),
    budget({ selector: { matchLabels: ['a'] } }),
    { apiVersion: 'policy/v1', kind: 'Budget' },
  ]);
  expect([...found.matchAll(/error TS\d+: (.*)/g)].map(([, sentence]) => sentence)).toEqual([
    expect.stringContaining('"minimumAvailable"'),
    expect.stringContaining('is not assignable'),
    expect.stringContaining("no exported member 'Budget'"),
  ]);
});

it('every value that can be changed reaches the documents, if Go is here to render them', () => {
  const missing = missingToRender();
  if (missing !== undefined) return console.log(missing);
  const [configuration, nodes, service, budget] = documentsOf(render(valuesWith('changed-values.yaml'))).map(
    (text) => parse(text) as unknown,
  );
  expect(configuration).toHaveProperty('data.BASA_AUTHORITY_ADDRESS_LIMIT', '{"burst":1000000,"perSecond":0.5}');
  expect(configuration).not.toHaveProperty('data.BASA_AUTHORITY_TRUSTED_PROXIES');
  const container = { image: 'registry.example.org/basa:1.2.3', imagePullPolicy: 'Always' };
  const port = { containerPort: 8443 };
  expect(nodes).toMatchObject({
    kind: 'StatefulSet',
    spec: {
      replicas: 1,
      volumeClaimTemplates: [{ spec: { storageClassName: 'fast', resources: { requests: { storage: '8Gi' } } } }],
      template: {
        spec: {
          nodeSelector: { 'kubernetes.io/arch': 'amd64' },
          tolerations: [{ key: 'dedicated' }],
          imagePullSecrets: [{ name: 'registry' }],
          volumes: [{ secret: { secretName: 'my-secret' } }, {}],
          containers: [{ ...container, ports: [port] }],
        },
      },
    },
  });
  expect(nodes).not.toHaveProperty('spec.template.spec.containers[0].resources');
  expect(service).toHaveProperty('spec.ports[0].port', 8443);
  expect(budget).toBeUndefined();
});
