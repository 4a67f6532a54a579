/** Layers as data: a user's own network is a list of them. */

export type Layer =
  | {
      readonly kind: 'conv2d';
      readonly outputs: number;
      readonly window: number;
      readonly stride: number;
      readonly padding: number;
      readonly name?: string;
    }
  | { readonly kind: 'dense'; readonly outputs: number; readonly name?: string }
  | { readonly kind: 'groupNorm'; readonly groups: number; readonly epsilon: number; readonly name?: string }
  | { readonly kind: 'maxPool'; readonly window: number; readonly stride: number; readonly padding: number }
  | { readonly kind: 'dropout'; readonly rate: number }
  | { readonly kind: 'relu' }
  | { readonly kind: 'sigmoid' }
  | { readonly kind: 'softmax' }
  | { readonly kind: 'flatten' };

/** Layers of the same name share their parameters. */
interface Named {
  readonly name?: string;
}

interface Windowed {
  readonly stride?: number;
  readonly padding?: number;
}

export function conv2d(outputs: number, window: number, options: Windowed & Named = {}): Layer {
  const { stride = 1, padding = 0, ...named } = options;
  return { kind: 'conv2d', outputs, window, stride, padding, ...named };
}

export function dense(outputs: number, named: Named = {}): Layer {
  return { kind: 'dense', outputs, ...named };
}

/** Normalises each group of channels of each image; as many groups as channels is instance normalisation. */
export function groupNorm(groups: number, options: Named & { readonly epsilon?: number } = {}): Layer {
  const { epsilon = 1e-5, ...named } = options;
  return { kind: 'groupNorm', groups, epsilon, ...named };
}

export function maxPool(window: number, { stride = window, padding = 0 }: Windowed = {}): Layer {
  return { kind: 'maxPool', window, stride, padding };
}

/** Zeroes a share of the words while training and scales the others up. */
export function dropout(rate: number): Layer {
  return { kind: 'dropout', rate };
}

export const relu: Layer = { kind: 'relu' };
export const sigmoid: Layer = { kind: 'sigmoid' };
export const softmax: Layer = { kind: 'softmax' };
export const flatten: Layer = { kind: 'flatten' };
