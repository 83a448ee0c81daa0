element.setAttribute('role', 'status');
element.setAttribute('aria-live', 'polite');
watch('value', () => setTimeout(resultShown, 50, element));
