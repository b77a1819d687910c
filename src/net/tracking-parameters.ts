/** Query parameters that only say where a visitor came from: they neither name a page nor open one. */
export const isTrackingParameter = (name: string): boolean => TRACKING.test(name);

const TRACKING = /^(?:utm_.*|gclid|fbclid|msclkid|dclid|yclid|mc_cid|mc_eid|igshid|_ga|srsltid)$/i;
