import { describe, expect, it } from 'vitest';
import { guessLanguage, languageFromTag } from './guess-language.ts';

describe('languages', () => {
  it.each([
    ['en', 'The results of the study were not what they had been hoping for.'],
    ['de', 'Die Ergebnisse der Studie waren nicht so, wie sie es sich erhofft hatten.'],
    ['fr', 'Les résultats de cette étude ne sont pas ceux que nous avions espérés.'],
    ['es', 'Los resultados del estudio no fueron los que ellos habían esperado para el año.'],
    ['it', 'I risultati dello studio non sono quelli che si erano sperati per la fine.'],
    ['pt', 'Os resultados do estudo não foram os que eles tinham esperado para o ano.'],
    ['nl', 'De resultaten van het onderzoek waren niet wat ze er van hadden verwacht.'],
    ['ru', 'Результаты исследования были не такими, как они того ожидали от него.'],
    ['ja', '研究の結果は期待していたものではありませんでした。'],
    ['zh', '研究结果并不是他们所期望的。'],
    ['ko', '연구 결과는 그들이 기대했던 것이 아니었다.'],
    ['vi', 'Thành phố lớn nhất nước'],
    ['tr', 'Yeşil ırmağın kıyısı'],
    ['ru', 'Быстрые жёлтые рыбы'],
    ['hi', 'अध्ययन के परिणाम वे नहीं थे'],
    ['th', 'ผลการศึกษาไม่เป็นไปตามที่คาดหวัง'],
  ])('%s is told', (language, text) => expect(guessLanguage(text)).toBe(language));

  it('are undefined if the text is unclear', () => {
    expect(guessLanguage('')).toBeUndefined();
    expect(guessLanguage('ERR_CODE 404 XPath')).toBeUndefined();
    expect(languageFromTag('zh-CN')).toBe('zh');
    expect(languageFromTag('iw')).toBe('he');
    expect(languageFromTag('english')).toBeUndefined();
  });
});
