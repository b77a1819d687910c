/** Styles that names of fonts state. */
import { describe, expect, it } from 'vitest';
import { styleOfName } from './fonts.ts';

const namesWith = (key: 'bold' | 'italic' | 'mono', names: string) =>
  names.split(' ').filter((name) => styleOfName(name)[key]);

const BOLD =
  'CMBX12 CMB10 CMSSBX10 CMBXTI10 ABCDEF+SFBX1000 SFSX1200 ECBX1095 NimbusRomNo9L-Medi NimbusRomNo9L-MediItal LMRomanDemi10-Regular URWGothicL-Demi HelveticaLTStd-Blk HelveticaLTStd-BlkCond Frutiger-Hv Arial,Bold TimesNewRomanPS-BoldMT Avenir-Heavy Roboto-Black MyriadPro-Semibold ptmb8r AdvOTb92eb7df.B KoPubDotumBold';
const REGULAR =
  'CMR10 CMTI10 SFRM1000 SFTI1000 NimbusRomNo9L-Regu AcademicoPro KoPubDotumMedium Roboto-Medium HelveticaNeue-Light Blackadder ptmr8r TimesNewRomanPSMT CMBSYSTEM ABCDEF+Bembo Offettina';

describe('styles of font names', () => {
  it('knows bold fonts of TeX, PostScript and foundries', () => {
    expect(namesWith('bold', BOLD)).toEqual(BOLD.split(' '));
    expect(namesWith('bold', REGULAR)).toEqual([]);
  });

  it('knows slanted fonts', () => {
    const slanted =
      'CMTI10 CMBXTI10 SFTI1000 SFBI1000 NimbusRomNo9L-ReguItal MinionPro-It HelveticaLTStd-Obl Arial,Italic';
    expect(namesWith('italic', slanted)).toEqual(slanted.split(' '));
    expect(namesWith('italic', 'CMR10 CMBX12 Capitals CMMI10 Digital-7')).toEqual([]);
  });

  it('knows fonts of fixed pitch, but not those of the foundry Monotype', () => {
    const fixed =
      'CMTT10 SFTT1000 ECTT1000 Courier NimbusMonL-Regu LucidaConsole SourceCodePro-Regular LetterGothicStd';
    expect(namesWith('mono', fixed)).toEqual(fixed.split(' '));
    expect(namesWith('mono', 'MonotypeCorsiva ArialUnicodeMS Encoder Harmonia')).toEqual([]);
  });

  it('tells light from medium', () => {
    const weights = 'KoPubBatangLight KoPubDotumMedium CMR10 CMBX10'.split(' ').map((name) => styleOfName(name).weight);
    expect(weights).toEqual([300, 500, 400, 700]);
  });
});
